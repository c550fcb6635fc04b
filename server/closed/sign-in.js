/* global document, location -- of the page, whose script this is */
// The script of the sign-in page. It sends the password to `_session` of the store, which answers with a cookie, and
// loads the page again.
{
  const form = /** @type {HTMLFormElement} */ (document.querySelector('form'))
  const problem = /** @type {HTMLElement} */ (document.querySelector('[role=alert]'))
  const { name, password, button } = /** @type {any} */ (form.elements)
  // the address of the page is SERVER/DATABASE/_design/…
  const session = location.pathname.replace(/[^/]+\/_design\/.*$/, '_session')

  const ask = (options = {}) => fetch(session, { credentials: 'same-origin', ...options }).catch(() => Response.error())

  form.addEventListener('submit', async event => {
    event.preventDefault()
    problem.textContent = ''
    button.disabled = true
    const { status, ok } = await ask({
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: name.value.trim(), password: password.value })
    })
    if (ok) return location.reload()
    button.disabled = false
    problem.textContent = { 401: form.dataset.wrong, 403: form.dataset.locked }[status] ?? form.dataset.failed
    password.select()
    password.focus()
  })

  // A browser sends no cookie of the store with a link of another site. A reader who has signed in before is then shown
  // this page, and loads it again with the cookie.
  const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'))
  if (navigation?.type !== 'reload' && form.dataset.user === undefined) {
    ask().then(answer => answer.ok ? answer.json() : null).then(body => { if (body?.userCtx?.name) location.reload() })
  }
}
