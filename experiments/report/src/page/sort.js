
// A click on a column's heading sorts by it; another one turns the order round. Without this script the
// tables stand in their own order.
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.querySelectorAll("thead th")];
  const body = table.tBodies[0];
  if (body.rows.length < 2) continue;
  heads.forEach((head, column) => {
    if (head.textContent === "") return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      const key = (row) => {
        const cell = row.cells[column];
        const text = (cell.firstChild ? cell.firstChild.textContent : "").trim();
        const shown = cell.dataset.k ?? text;
        const number = shown === "" ? NaN : Number(shown);
        return { text, number };
      };
      const rows = [...body.rows].map((row) => ({ row, key: key(row) }));
      // What has no number stands last in either order.
      rows.sort((a, b) => {
        const [x, y] = [a.key, b.key];
        const [p, q] = [Number.isNaN(x.number), Number.isNaN(y.number)];
        if (p !== q) return p ? 1 : -1;
        const order = p ? x.text.localeCompare(y.text, "en", { numeric: true }) : x.number - y.number;
        return down ? -order : order;
      });
      body.append(...rows.map((r) => r.row));
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
    });
  });
}
// A table whose columns are cut says so.
const cut = (frame) => frame.classList.toggle("cut", frame.scrollWidth > frame.clientWidth + 1);
const sizes = new ResizeObserver((seen) => seen.forEach((s) => cut(s.target)));
document.querySelectorAll(".frame").forEach((frame) => sizes.observe(frame));
