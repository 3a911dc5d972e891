-- A small shop: the tables that exist before the sample log begins.

CREATE SCHEMA shop;
CREATE SCHEMA staging;
CREATE SCHEMA mart;

CREATE TABLE shop.customers (
  cid integer PRIMARY KEY,
  name text NOT NULL,
  age integer,
  email text,
  city text,
  country text,
  marketing_ok boolean
);

CREATE TABLE shop.stores (
  store_id integer PRIMARY KEY,
  name text,
  region text
);

CREATE TABLE shop.orders (
  oid integer PRIMARY KEY,
  cid integer REFERENCES shop.customers (cid),
  store_id integer REFERENCES shop.stores (store_id),
  ordered_at timestamp,
  status text,
  total numeric(12, 2)
);

CREATE TABLE shop.categories (
  category_id integer PRIMARY KEY,
  name text,
  parent_id integer
);

CREATE TABLE shop.products (
  product_id integer PRIMARY KEY,
  category_id integer,
  name text,
  price numeric(12, 2),
  cost numeric(12, 2),
  active boolean
);

CREATE TABLE shop.order_items (
  oid integer,
  line_no integer,
  product_id integer,
  quantity integer,
  unit_price numeric(12, 2),
  discount numeric(4, 2)
);

CREATE TABLE shop.payments (
  payment_id integer PRIMARY KEY,
  oid integer,
  method text,
  amount numeric(12, 2),
  paid_at timestamp,
  card_token text
);

CREATE TABLE shop.web (
  cid integer,
  date date,
  page text,
  reg boolean
);

CREATE TABLE shop.stock (
  product_id integer,
  store_id integer,
  on_hand integer,
  counted_at timestamp
);

CREATE TABLE shop.suppliers (
  supplier_id integer PRIMARY KEY,
  name text,
  mail text
);

CREATE TABLE shop.exchange_rates (
  currency text,
  day date,
  rate numeric
);

CREATE TABLE shop.api_clients (
  client text,
  token text
);

CREATE TABLE staging.raw_orders (
  order_ref text,
  customer_ref text,
  placed text,
  amount text
);

CREATE TABLE staging.orders_import (
  oid integer,
  cid integer,
  ordered_at timestamp,
  amount numeric
);

CREATE TABLE mart.daily_sales (
  day date,
  store_id integer,
  orders bigint,
  gross numeric
);

CREATE TABLE mart.customer_dim (
  customer_id integer,
  full_name text,
  mail text,
  town text,
  first_order timestamp,
  lifetime_value numeric,
  segment text
);

CREATE TABLE mart.product_margin (
  product_id integer,
  price numeric,
  margin numeric,
  product_name text
);

CREATE TABLE mart.stock_level (
  product_id integer,
  store_id integer,
  on_hand integer,
  counted_at timestamp,
  PRIMARY KEY (product_id, store_id)
);

CREATE TABLE mart.late_payments (
  oid integer,
  cid integer,
  total numeric,
  days integer
);
