// Names for screen readers where the theme and the gallery hide or contradict the visible text.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a.reference"))
    link.setAttribute("aria-label", link.textContent);
  for (const button of document.querySelectorAll(".search-button-field"))
    button.removeAttribute("aria-label");
});
