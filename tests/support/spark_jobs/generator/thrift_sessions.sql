!connect jdbc:hive2://127.0.0.1:%PORT%/default alice any
CREATE DATABASE sales;
CREATE DATABASE mart;
CREATE TABLE sales.orders (order_id BIGINT, status STRING, amount DOUBLE) USING parquet;
CREATE TABLE mart.orders (order_id BIGINT, amount DOUBLE) USING parquet;
CREATE TABLE mart.totals (order_id BIGINT, total DOUBLE) USING parquet;
INSERT INTO sales.orders VALUES (1, 'open', 2);
!connect jdbc:hive2://127.0.0.1:%PORT%/mart bob any
!go 0
USE sales;
!go 1
INSERT INTO totals SELECT order_id, sum(amount) FROM orders GROUP BY order_id;
!go 0
CREATE VIEW open_orders AS SELECT order_id AS id, amount FROM orders WHERE status = 'open';
INSERT INTO mart.orders
SELECT id, amount * 2
FROM open_orders;
!go 1
CREATE TABLE copies USING parquet AS SELECT order_id AS copied, amount FROM orders;
USE sales;
!go 0
USE mart;
INSERT INTO sales.orders SELECT order_id, 'again', amount FROM orders;
!go 1
CREATE TABLE mart.states USING parquet AS SELECT upper(status) AS state, count(*) AS n FROM orders GROUP BY status;
INSERT INTO mart.totals SELECT order_id, amount FROM orders WHERE raise_error(status) IS NULL;
INSERT INTO mart.totals SELECT no_such_column, amount FROM orders;
INSERT INTO mart.totals SELEC order_id FROM orders;
SELECT count(*) FROM orders;
!closeall
