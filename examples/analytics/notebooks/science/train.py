# Databricks notebook source
rows = spark.table("features.users").collect()
print(len(rows))
