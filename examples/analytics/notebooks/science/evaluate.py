# Databricks notebook source
print(spark.table("models.scores").count())
