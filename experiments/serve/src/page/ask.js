"use strict";
// How a question reaches the simulator: here over the loopback, to orrery serve. In the site, where the simulator is in
// the page, web/page/ask.js stands in place of this file.
const simulator = (() => {
  const token = new URLSearchParams(location.search).get("token");
  const client = Array.from(crypto.getRandomValues(new Uint32Array(2)), (n) => n.toString(16)).join("");
  const address = (path, pairs) => `${path}?${new URLSearchParams([["token", token], ...pairs])}`;
  return {
    gone: "orrery serve has ended. Start it again, and open the address that it prints.",
    // Calls back when there is something to ask, and whenever it is another file.
    begin: (load) => load(),
    // What the address of the page asks, and a way to have it ask that.
    pairs: () => [...new URLSearchParams(location.search)].filter(([key]) => key !== "token"),
    keep: (pairs) => history.replaceState(null, "", address("/", pairs)),
    // The server ends the last question of the same client.
    events: (path, pairs) => new EventSource(address(path, [...pairs, ["client", client]])),
    reply: (path, pairs) => fetch(address(path, pairs)),
    picture: (image, pairs) => {
      image.src = address("/api/figure.svg", pairs);
    },
    link: (element, path, pairs) => {
      element.href = address(path, pairs);
    },
  };
})();
