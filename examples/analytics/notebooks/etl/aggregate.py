# Databricks notebook source
spark.table("clean.events").groupBy("day").count().write.mode("overwrite").saveAsTable("sums.days")
