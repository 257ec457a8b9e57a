# Databricks notebook source
spark.table("clean.events").groupBy("user").count().write.saveAsTable("features.users")
