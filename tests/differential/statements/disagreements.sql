-- A name that an outer query has is not the hidden name of an aliased table inside.
with items as (select price as p, item_id as k from sales) select p from items where exists (select items.p * r.m from items as r (m, n) where r.n = items.k);
-- ORDER BY means the output that a star gives before another relation's column of that name.
select i.* from sales s join items i on s.item_id = i.item_id order by price;
-- The column that FULL JOIN merges is made like COALESCE, which tests its arguments for null.
select upper(city) as c from stores full join addresses using (city);
-- NATURAL JOIN merges in the order of its left side, and USING puts its columns first, in a semi join as well.
select * from inventory natural join sales;
select * from inventory natural full join returns;
select * from sales left anti join returns using (sale_id, item_id);
-- A star inside a function is every column; of a struct its fields.
select struct(*) as s, hash(*) as h from (select city, state from addresses);
select who.*, size(map_keys(props)) as n from events;
select who.home.* from events;
-- EXISTS over an array is a function.
select exists(scores, x -> x > customer_id) as e from customers;
-- GROUPING tells keys, not values.
select brand, grouping(brand) as g from items group by cube (brand, category);
-- A tuple is made of its values.
select (price, quantity) as pair from sales;
-- RANGE names its column.
select * from range(10);
select s.price, r.id from sales s join range(3) r on r.id = s.quantity;
-- Aggregates that are known by name only.
select histogram_numeric(price, 5) as h from sales;
