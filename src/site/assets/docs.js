// Swagger UI has a dark dress of its own, by a class.
const dark = matchMedia('(prefers-color-scheme: dark)');
const dress = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', dress);
dress();

// Swagger UI leaves some of its parts without a name, or out of reach of the keyboard.
const name = () => {
  for (const select of document.querySelectorAll('#swagger-ui select:not([aria-label])')) {
    select.setAttribute('aria-label', 'Choose an example or a media type');
  }
  for (const block of document.querySelectorAll('#swagger-ui pre:not([tabindex])')) block.tabIndex = 0;
};
addEventListener('DOMContentLoaded', () => {
  new MutationObserver(name).observe(document.getElementById('swagger-ui'), { childList: true, subtree: true });
});
