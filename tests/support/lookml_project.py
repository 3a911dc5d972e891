"""A small LookML project: views over a table, a query and an explore, an explore that joins, a dashboard."""

from __future__ import annotations

FILES = {
    "manifest.lkml": 'constant: SCHEMA { value: "shop" }\n',
    "shop.model.lkml": """\
connection: "warehouse"
include: "*.view.lkml"
explore: orders {
  sql_always_where: ${orders.status} <> 'secret' ;;
  join: users { relationship: many_to_one sql_on: ${orders.user_id} = ${users.id} ;; }
  join: tags { sql: LEFT JOIN UNNEST(orders.tags) AS tags ;; }
}
""",
    "views/orders.view.lkml": """\
view: base {
  extension: required
  dimension: id { primary_key: yes sql: ${TABLE}.id ;; }
}
view: orders {
  extends: [base]
  sql_table_name: @{SCHEMA}.orders ;;
  dimension: user_id { hidden: yes }
  dimension: status { type: string sql: ${TABLE}.status ;; }
  dimension: net { type: number sql: ${TABLE}.total - ${TABLE}.tax ;; }
  dimension: by_choice { sql: {% parameter choice %} ;; }
  dimension: broken { sql: coalesce(${TABLE}.a ;; }
  dimension_group: placed { type: time timeframes: [date, month] sql: ${TABLE}.placed_at ;; }
  measure: count { type: count }
  measure: paid { type: sum sql: ${net} ;; filters: [status: "paid"] }
  measure: share { type: number sql: ${paid} / nullif(${count::number}, 0) ;; }
}
view: tags { dimension: tag { sql: ${TABLE} ;; } }
""",
    "views/users.view.lkml": """\
view: users {
  derived_table: {
    sql: SELECT u.id, u.city FROM @{SCHEMA}.users u JOIN ${orders.SQL_TABLE_NAME} o ON o.user_id = u.id
         WHERE {% condition since %} o.placed_at {% endcondition %} ;;
  }
  filter: since { type: date }
  dimension: id { primary_key: yes }
  dimension: city { case: { when: { sql: ${TABLE}.city = 'x' ;; label: "X" } else: "other" } }
}
view: cities {
  derived_table: {
    explore_source: orders {
      column: city { field: users.city }
      column: paid { field: orders.paid }
      derived_column: rank { sql: rank() over (order by paid) ;; }
    }
  }
  dimension: city {}
  dimension: rank {}
}
view: templated { sql_table_name: {{ _user_attributes['schema'] }}.orders ;; dimension: id {} }
""",
    "views/refined.view.lkml": "view: +orders { dimension: status { sql: lower(${TABLE}.status) ;; } }\n",
    "sales.dashboard.lookml": """\
- dashboard: sales
  title: Sales
  elements:
  - {title: Paid, name: Paid, model: shop, explore: orders, type: looker_line,
     fields: [orders.placed_month, orders.paid], filters: {users.city: X}}
  - {title: Note, name: Note, type: text}
  - {title: Gone, name: Gone, model: shop, explore: returns, type: table, fields: [returns.count]}
  - {title: Merged, name: Merged, type: table, merged_queries: [{model: shop, explore: orders}]}
""",
}
