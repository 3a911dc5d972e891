"""dbt's Jinja without dbt: what a model's template becomes, found in a process that can be killed."""
