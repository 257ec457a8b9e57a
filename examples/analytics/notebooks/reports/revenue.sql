-- Databricks notebook source
SELECT month(day) AS month, sum(count) AS events FROM sums.days GROUP BY 1
