/* The campaign form: levels as chips over a textarea of one level a line, and one submit only.
   The textarea stays what is sent; without this script it is what one types into. */
(() => {
  "use strict";
  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const icon = (name) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", "true");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    use.setAttribute("href", `#i-${name}`);
    svg.append(use);
    return svg;
  };

  function chips(box) {
    if ("chips" in box.dataset) return;
    box.dataset.chips = "";
    const name = box.dataset.label;
    const area = box.querySelector("textarea");
    const numeric = box.dataset.numeric === "true";
    const bad = new Set((box.dataset.bad ?? "").split("\n").filter(Boolean));
    const split = (text) => text.split(numeric ? /[\s,;]+/ : /[\r\n]+/).map((part) => part.trim()).filter(Boolean);
    const list = element("div", { className: "chips" });
    const input = element("input", { className: "input", type: "text", placeholder: "add level" });
    input.setAttribute("aria-label", `Add a level of ${name}`);
    input.style.setProperty("--w", numeric ? "6rem" : "18rem");
    if (numeric) input.inputMode = "decimal";
    if (box.dataset.offers) input.setAttribute("list", box.dataset.offers);
    if (area.hasAttribute("aria-invalid")) {
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-describedby", area.getAttribute("aria-describedby") ?? "");
    }
    const write = (levels) => {
      area.value = levels.join("\n");
      draw();
      area.dispatchEvent(new Event("input", { bubbles: true }));
    };
    const remove = (index) => {
      write(split(area.value).filter((_, at) => at !== index));
      input.focus();
    };
    const add = () => {
      const levels = split(area.value);
      const more = split(input.value).filter((level) => !levels.includes(level));
      input.value = "";
      if (more.length) write([...levels, ...more]);
    };
    const draw = () => {
      const made = split(area.value).map((level, index) => {
        const button = element("button", { type: "button" }, icon("x"));
        button.setAttribute("aria-label", `Remove level ${level} of ${name}`);
        button.addEventListener("click", () => remove(index));
        const text = element("span", { className: "text", textContent: level });
        if (!bad.has(level)) return element("span", { className: "chip" }, text, button);
        const wrong = element("span", { className: "vh", textContent: " (wrong)" });
        return element("span", { className: "chip bad" }, icon("warn"), text, wrong, button);
      });
      list.replaceChildren(...made, input);
    };
    input.addEventListener("input", (event) => event.stopPropagation());
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || (event.key === "," && numeric)) {
        event.preventDefault();
        add();
        input.focus();
      } else if (event.key === "Backspace" && input.value === "") {
        const levels = split(area.value);
        if (levels.length) remove(levels.length - 1);
      }
    });
    input.addEventListener("change", add);
    area.addEventListener("levels-changed", draw);
    area.hidden = true;
    for (const hint of box.querySelectorAll(".hint")) hint.hidden = true;
    draw();
    box.append(list);
  }

  /* A parameter that begins to vary has its present value as the first level. */
  document.addEventListener("input", (event) => {
    const name = event.target.name ?? "";
    if (!name.startsWith("vary-") || !event.target.checked) return;
    const row = event.target.closest(".param");
    const boxes = [...row.querySelectorAll('.levels input[type="checkbox"]')];
    const area = row.querySelector(".levels textarea");
    const single = row.querySelector(".single :is(input, select, textarea)");
    const chosen = single?.value.trim();
    if (boxes.length && !boxes.some((box) => box.checked)) {
      const present = single?.type === "checkbox" ? (single.checked ? "True" : "False") : chosen;
      for (const box of boxes) box.checked = box.value === present && !box.disabled;
    }
    if (area && area.value.trim() === "" && chosen) {
      area.value = single.value;
      area.dispatchEvent(new CustomEvent("levels-changed"));
    }
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-add-row]");
    if (!button) return;
    const hidden = [...button.closest("fieldset").querySelectorAll("[data-row][hidden]")];
    if (hidden.length) {
      hidden[0].hidden = false;
      hidden[0].querySelector("select, input").focus();
    }
    if (hidden.length < 2) button.hidden = true;
  });

  /* A second click while the first one is on its way would make a second campaign. */
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("[data-once]") || event.submitter?.formTarget === "_blank") return;
    if ("sent" in form.dataset) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "";
    event.submitter?.setAttribute("aria-busy", "true");
  });
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("[data-sent]")) {
      delete form.dataset.sent;
      for (const button of form.querySelectorAll("[aria-busy]")) button.removeAttribute("aria-busy");
    }
  });

  /* Another kind or target replaces the form. What is typed between the request and its answer is not in the answer:
     it is put back into the new form, as far as that has the same fields, with the place where one types. */
  const REDRAWN = "campaign-form";
  const OWN = new Set(["hidden", "submit", "button", "fieldset"]);
  const CHIPS = "[data-levels] .chips > input";
  const controls = (form) => [...form.elements].filter((each) => each.name && !OWN.has(each.type));
  const ticked = (control) => ["checkbox", "radio"].includes(control.type);
  const named = (control) => ticked(control) ? `${control.name}=${control.value}` : control.name;
  const held = (control) => ticked(control) ? control.checked : control.value;
  let asked = null;
  let typed = null;

  document.addEventListener("htmx:beforeRequest", ({ detail }) => {
    if (detail.target?.id !== REDRAWN) return;
    asked = new Map(controls(detail.target).map((each) => [named(each), held(each)]));
  });
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.target?.id !== REDRAWN || !detail.shouldSwap || !asked) return;
    const changed = controls(detail.target).filter((each) => each.files?.length || asked.get(named(each)) !== held(each));
    const { activeElement: at } = document;
    typed = {
      values: new Map(changed.map((each) => [named(each), each.files ?? held(each)])),
      levels: new Map([...detail.target.querySelectorAll(CHIPS)].map((each) => [each.ariaLabel, each.value])),
      at: at.matches(CHIPS) ? at.ariaLabel : named(at),
      selection: at.matches("textarea, [type=text]") ? [at.selectionStart, at.selectionEnd] : null,
    };
    asked = null;
  });
  const show = (control) => {
    control.closest(".condition")?.removeAttribute("hidden");
    for (let fold = control.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  };
  const put = (control, value) => {
    if (value instanceof FileList) control.files = value;
    else if (ticked(control)) control.checked = value;
    else if (control.tagName !== "SELECT" || [...control.options].some((each) => each.value === value)) control.value = value;
    if (control.type !== "radio") show(control);
  };
  const putBack = () => {
    const form = document.getElementById(REDRAWN);
    for (const control of controls(form)) {
      if (typed.values.has(named(control))) put(control, typed.values.get(named(control)));
    }
  };
  const typeOn = () => {
    const form = document.getElementById(REDRAWN);
    const boxes = [...form.querySelectorAll(CHIPS)];
    for (const box of boxes) box.value = typed.levels.get(box.ariaLabel) ?? "";
    const at = boxes.find((box) => box.ariaLabel === typed.at) ?? controls(form).find((each) => named(each) === typed.at);
    if (at && document.activeElement !== at) at.focus();
    if (at && typed.selection) at.setSelectionRange(...typed.selection);
    if (typed.values.size) form.elements.question.dispatchEvent(new Event("input", { bubbles: true }));
  };
  document.addEventListener("htmx:afterSwap", () => { if (typed) putBack(); });

  const look = () => document.querySelectorAll("[data-levels]").forEach(chips);
  document.addEventListener("htmx:afterSettle", () => {
    look();
    if (typed) typeOn();
    typed = null;
  });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", look);
  else look();
})();
