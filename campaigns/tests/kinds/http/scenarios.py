"""Scenarios that several tests use."""

USERS = "user\nanna\nberta\n"
LIST_AND_READ = """\
name: list and read
data: {user: users.csv, size: [1, 10, 100]}
headers: {Accept: application/json}
steps:
  - name: list
    get: /pulp/api/v3/repositories/?limit={size}
    expect: {status: 200, json: {count: {at_least: 1}}, most_milliseconds: 2000}
    take: {href: {json: a}}
  - name: read
    think: {seconds: 0.5}

    get: "{href}"
    expect: {status: [200, 304], type: application/json, contains: '"pulp_href"'}
  - name: change
    weight: 0.1
    patch: "{href}"
    json: {description: "by host {host}, round {round}"}
    expect: {status: 202}
"""
