"""Two requests of Locust."""

from locust import HttpUser, constant, task


class Buyer(HttpUser):
    wait_time = constant(0.05)

    @task(3)
    def home(self):
        self.client.get("/", name="home")

    @task
    def slow(self):
        self.client.get("/slow", name="slow")
