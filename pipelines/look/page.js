for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const key = (row, column) => row.cells[column].dataset.sort ?? row.cells[column].textContent;
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const numbers = head.classList.contains("number");
    const compare = (a, b) => numbers ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true });
    const rows = [...body.rows].sort((a, b) => compare(key(a, column), key(b, column)));
    body.append(...(down ? rows.reverse() : rows));
  }));
}
