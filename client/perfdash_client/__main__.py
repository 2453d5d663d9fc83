"""`python -m perfdash_client`."""

from perfdash_client.app import run

if __name__ == "__main__":
    run()
