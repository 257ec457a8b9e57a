# Databricks notebook source
day = dbutils.widgets.get("day")
orders = spark.read.json(f"dbfs:/landing/orders/{day}")
orders.write.mode("overwrite").saveAsTable("orders")
