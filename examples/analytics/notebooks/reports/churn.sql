-- Databricks notebook source
SELECT user FROM features.users WHERE count = 0
