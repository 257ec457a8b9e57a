-- Databricks notebook source
SELECT day, count FROM sums.days ORDER BY day DESC LIMIT 1
