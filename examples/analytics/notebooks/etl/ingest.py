# Databricks notebook source
spark.read.json("fs:/landing").write.mode("append").saveAsTable("raw.events")
