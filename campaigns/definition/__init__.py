"""Create, change, preview, launch, extend, clone, cancel: what every face of perfdash calls.

`checking` turns what somebody typed or sent into a Definition, or says what is wrong with it;
`drafts` stores it; `preview` shows its plan; `life` launches and steers it; `servers` saves
targets. No face has a second way to do any of it.
"""
