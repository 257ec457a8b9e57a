# Databricks notebook source
spark.table("raw.events").dropDuplicates(["id"]).write.mode("overwrite").saveAsTable("clean.events")
