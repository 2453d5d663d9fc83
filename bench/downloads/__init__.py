"""What `script/bench downloader` measures: our downloader engines beside aria2c, wget2 and the command curl."""
