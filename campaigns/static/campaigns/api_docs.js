"use strict";
// The OpenAPI document as a page. Requests are tried with the session; its CSRF token goes along.

const place = document.getElementById("api");
const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");

// Swagger UI is dark by a class of its own; ours is the button's choice, else the system's.
function dress() {
  root.classList.toggle("dark-mode", (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark");
}

dress();
system.addEventListener("change", dress);
new MutationObserver(dress).observe(root, { attributeFilter: ["data-theme"] });

// Swagger UI's own layout is a whole page, with a main part and a form for tokens; this one is a part of ours.
function addresses({ React: { createElement } }) {
  const states = { loading: "Loading…", failed: "The document could not be loaded.", failedConfig: "The document could not be loaded." };
  const Addresses = ({ getComponent, specSelectors }) => {
    const state = states[specSelectors.loadingStatus()];
    const parts = state ? [] : [getComponent("operations", true), getComponent("Models", true)];
    return createElement("div", { className: "swagger-ui" },
      createElement(getComponent("SvgAssets")),
      createElement(getComponent("errors", true)),
      state && createElement("p", { role: "status" }, state),
      ...parts.map((part) => createElement("div", { className: "wrapper", key: part.displayName }, createElement(part))));
  };
  return { components: { Addresses } };
}

SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: "none",
  tryItOutEnabled: false,
  layout: "Addresses",
  plugins: [addresses],
  requestInterceptor(request) {
    if (new URL(request.url, location).origin === location.origin && request.method !== "GET") {
      request.headers["X-CSRFToken"] = place.dataset.token;
    }
    return request;
  },
});
