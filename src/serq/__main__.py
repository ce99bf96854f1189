"""`python -m serq`: the command line."""

from serq.cli.process import run_process

if __name__ == "__main__":
    run_process()
