(() => {
  'use strict';
  const byId = (id) => document.getElementById(id);
  const failures = Array.from(document.querySelectorAll('details.failure'));
  const filter = byId('filter');

  // A link to what is folded away unfolds it.
  const unfold = () => {
    const target = location.hash.length > 1 && byId(location.hash.slice(1));
    for (let at = target || null; at; at = at.parentElement) {
      if (at instanceof HTMLDetailsElement) at.open = true;
    }
    if (target) target.scrollIntoView();
  };
  addEventListener('hashchange', unfold);
  unfold();

  // What is printed is read on paper, where nothing can be unfolded.
  addEventListener('beforeprint', () => {
    for (const folded of document.querySelectorAll('details')) folded.open = true;
  });

  if (!filter || !failures.length) return;
  const search = byId('search');
  const kind = byId('kind');
  const shown = byId('shown');
  const keys = byId('keys');
  let texts = null;

  const visible = () => failures.filter((failure) => !failure.hidden);
  const narrow = () => {
    texts = texts || failures.map((failure) => failure.textContent.toLowerCase());
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    failures.forEach((failure, at) => {
      const fits = (!kind.value || failure.dataset.kind === kind.value)
        && words.every((word) => texts[at].includes(word));
      failure.hidden = !fits;
      if (fits) count += 1;
    });
    for (const list of document.querySelectorAll('.failures')) {
      list.classList.toggle('narrowed', count < failures.length);
    }
    shown.textContent = `${count} of ${failures.length} shown`;
  };
  const go = (step) => {
    const all = visible();
    const here = all.indexOf(document.activeElement.closest('details.failure'));
    const next = all[here < 0 ? (step > 0 ? 0 : all.length - 1) : here + step];
    if (next) next.querySelector('summary').focus();
  };
  const reset = () => {
    search.value = '';
    kind.value = '';
    narrow();
  };

  filter.hidden = false;
  search.addEventListener('input', narrow);
  kind.addEventListener('change', narrow);
  byId('open').addEventListener('click', () => {
    for (const failure of visible().slice(0, 200)) failure.open = true;
  });
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape' && (event.target === search || keys.checked)) {
      reset();
      return;
    }
    if (!keys.checked || event.target.closest('input, select, textarea')) return;
    if (event.key === '/') search.focus();
    else if (event.key === 'j') go(1);
    else if (event.key === 'k') go(-1);
    else return;
    event.preventDefault();
  });
})();
