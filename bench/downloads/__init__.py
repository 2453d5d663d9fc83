"""The benchmark `script/bench downloader`: our engines compared with aria2c, wget2 and the command curl."""
