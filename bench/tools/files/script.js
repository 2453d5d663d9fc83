import http from "k6/http";
import { check } from "k6";
export default function () {
  check(http.get(`${__ENV.URL}/`), { "is 200": (r) => r.status === 200 });
}
