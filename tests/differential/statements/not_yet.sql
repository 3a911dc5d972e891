-- What INLINE gives without names for it needs the type of its argument, which STRUCT(…) does not pass on yet.
select inline(array(struct(name, brand), named_struct('name', brand, 'brand', name))) from items;
