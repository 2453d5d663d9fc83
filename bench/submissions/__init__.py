"""What `script/bench api` measures: perfdash and LNT, through their web servers, on the same data."""
