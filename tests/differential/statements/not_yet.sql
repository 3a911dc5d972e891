-- The other fields of a struct decide which one is the largest: they are not said to sort yet.
select item_id, max(struct(price, quantity)).quantity as q from sales group by item_id;
