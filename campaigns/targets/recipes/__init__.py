"""Recipes: settings of servers as files, each with the question that it answers, its source and its costs.

`reading` reads a recipe and lists the shipped ones, which are the YAML files of this folder; `importing` makes a setting of a
target of one. A recipe says nothing of a setting that the page of a target cannot say.
"""
