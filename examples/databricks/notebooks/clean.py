# Databricks notebook source
orders = spark.table("orders").dropDuplicates(["order_id"]).dropna(subset=["customer_id"])
orders.write.mode("overwrite").saveAsTable("orders_clean")
