CREATE DATABASE sales; CREATE DATABASE mart;
CREATE TABLE sales.orders (order_id BIGINT, customer_id INT, status STRING, amount DECIMAL(10,2)) USING parquet;
-- fill it
INSERT INTO sales.orders VALUES (1, 1, 'open', 3);
USE sales;
CREATE VIEW open_orders AS SELECT order_id AS id, amount FROM orders WHERE status = 'open';
CREATE TABLE mart.c1 USING parquet AS SELECT id, amount * 2 AS twice FROM open_orders;
INSERT INTO mart.c1 SELECT order_id, sum(amount) FROM orders GROUP BY order_id;
INSERT INTO mart.c1 SELECT id + 1, amount FROM open_orders;
SELECT count(*) FROM orders;
SHOW TABLES;
INSERT INTO mart.c1 SELECT order_id, raise_error('boom') FROM orders;
