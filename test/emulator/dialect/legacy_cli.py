"""Runs commands of the legacy databricks-cli in one process: a JSON list of arguments a line in, code and output a line out.

The CLI keeps scheme and host name of its configuration and drops the port, so its base address is set again here.
"""

import json
import os
import sys

from click.testing import CliRunner
from databricks_cli.cli import cli
from databricks_cli.sdk import api_client

begin = api_client.ApiClient.__init__


def begin_with_port(self, *given, **named):
    begin(self, *given, **named)
    self.url = os.environ["DATABRICKS_HOST"].rstrip("/") + "/api/"


api_client.ApiClient.__init__ = begin_with_port

for line in sys.stdin:
    result = CliRunner().invoke(cli, json.loads(line))
    cause = "" if result.exception is None else repr(result.exception)
    answer = {"code": result.exit_code, "output": result.output, "cause": cause}
    sys.__stdout__.write(json.dumps(answer) + "\n")
    sys.__stdout__.flush()
