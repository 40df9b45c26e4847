// Keeps the page up to date: asks the server once a second what is new. Without this script, reloading the page does the same.
"use strict";

const live = document.querySelector("[data-live]");
const state = document.getElementById("state");
const PAUSE = 1000;

function address() {
  const url = new URL(location.href);
  url.searchParams.set("part", "1");
  url.searchParams.set("cursor", live.dataset.cursor);
  return url;
}

// New records of a call that is shown already belong to its item.
function append(fragment) {
  document.querySelector("[data-empty]")?.remove();
  for (const item of [...fragment.children]) {
    const call = item.dataset.call;
    const shown = call && live.querySelector(`[data-call="${CSS.escape(call)}"]`);
    if (!shown) {
      item.classList.add("new");
      live.append(item);
      continue;
    }
    const rows = item.querySelectorAll(":scope > .rows > .row");
    shown.querySelector(".rows").append(...rows);
    const word = item.querySelector(".state");
    if (word && !shown.querySelector(".state.blocked")) {
      shown.querySelector(".state")?.remove();
      shown.querySelector("h3").parentElement.append(word);
      shown.className = item.className;
    }
  }
}

// The focus stays on the same link.
function replace(fragment) {
  const focused = live.contains(document.activeElement) && document.activeElement.getAttribute("href");
  live.replaceChildren(...fragment.childNodes);
  if (focused) live.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
}

function show(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const atEnd = innerHeight + scrollY >= document.body.scrollHeight - 80;
  const before = live.children.length;
  if (live.dataset.live === "append") {
    append(template.content);
    const count = live.children.length - before;
    if (count > 0) state.textContent = `${count} new at ${new Date().toISOString().slice(11, 19)}`;
    if (atEnd) scrollTo(0, document.body.scrollHeight);
  } else {
    replace(template.content);
  }
}

async function look() {
  try {
    const answer = await fetch(address(), { cache: "no-store" });
    if (answer.status === 410) return location.reload();
    if (answer.status === 200) {
      live.dataset.cursor = answer.headers.get("x-cursor");
      show(await answer.text());
    }
    if (state.textContent.startsWith("Not connected")) state.textContent = "";
  } catch {
    state.textContent = "Not connected: tenter inspect has ended";
  }
  setTimeout(look, document.hidden ? 5 * PAUSE : PAUSE);
}

if (live) setTimeout(look, PAUSE);
