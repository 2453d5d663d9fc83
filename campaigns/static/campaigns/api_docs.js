"use strict";
// The OpenAPI document as a page. Requests are tried with the session; its CSRF token goes along.

const place = document.getElementById("api");

SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: "none",
  tryItOutEnabled: false,
  requestInterceptor(request) {
    if (new URL(request.url, location).origin === location.origin && request.method !== "GET") {
      request.headers["X-CSRFToken"] = place.dataset.token;
    }
    return request;
  },
});
