#!/bin/bash
apt-get install -y jq
