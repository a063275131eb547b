"""Servers with one thing wrong each, which show that the contract cases notice."""

from . import faults_in as faults_in
from . import faults_out as faults_out
from .proxy import FAULTS as FAULTS
