// The pages for readers who open a private map in a browser and may not read it: a sign-in at the embedded store, and
// at a gateway the advice to ask for a link. Programs get the JSON error of the server instead.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { escapeXml } from '../gateway/wmts/xml.js'
import { languageFor, languages } from './words.js'

const script = readFileSync(new URL('sign-in.js', import.meta.url), 'utf8')

const style = `
:root { color-scheme: light dark; --ground: #dbe4e9; --card: #fff; --ink: #17242b; --soft: #51626b; --line: #8496a0;
  --accent: #0f6674; --on-accent: #fff; --problem: #c22828; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #0e151a; --card: #1b252d; --ink: #e8eef1; --soft: #a3b3bc; --line: #6c7d88;
    --accent: #5cc3d2; --on-accent: #06252b; --problem: #ff7a70; }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 16px; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 400px; margin: 12vh auto 0; padding: 28px; border-radius: 14px; background: var(--card); }
h1 { margin: 0 0 8px; font-size: 22px; line-height: 1.3; }
p { margin: 0; color: var(--soft); }
form { display: grid; gap: 14px; margin-top: 20px; }
label { display: grid; gap: 4px; }
input, button { min-height: 44px; padding: 0 12px; border-radius: 9px; font: inherit; color: inherit; }
input { width: 100%; border: 1px solid var(--line); background: transparent; }
button { border: 0; background: var(--accent); color: var(--on-accent); font-weight: 600; cursor: pointer; }
button:disabled { opacity: .6; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
[role=alert] { color: var(--problem); }
[role=alert]:empty { display: none; }
`

const digestOf = text => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const policyOf = (...more) => [
  "default-src 'none'", `style-src ${digestOf(style)}`, 'img-src data:', "base-uri 'none'", "form-action 'none'",
  "frame-ancestors 'self'", ...more
].join('; ')

const LINK_POLICY = policyOf()
const SIGN_IN_POLICY = policyOf(`script-src ${digestOf(script)}`, "connect-src 'self'")

/** Whether a browser requests a page. @param {{method?: string, headers: Record<string, any>}} request */
export const asksForPage = ({ method, headers }) =>
  method === 'GET' && /(?:^|,)\s*text\/html\s*(?:[;,]|$)/i.test(headers.accept ?? '')

/**
 * @param {string | undefined} acceptLanguage @param {(words: typeof languages['en']) => string} contentOf HTML
 * @param {string} policy
 */
function pageWith (acceptLanguage, contentOf, policy) {
  const language = languageFor(acceptLanguage)
  const words = languages[language]
  const html = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<title>${escapeXml(words.title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
<h1>${escapeXml(words.title)}</h1>
${contentOf(words)}
</main>
</body>
</html>
`
  return {
    body: Buffer.from(html),
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Language': language,
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
      Vary: 'Accept, Accept-Language, Authorization, Cookie'
    }
  }
}

/**
 * The page that says that a link with a token is needed.
 * @param {string} code ACCESS_NEEDED, TOKEN_EXPIRED or TOKEN_INVALID @param {string} [acceptLanguage] header
 */
export const linkPage = (code, acceptLanguage) =>
  pageWith(acceptLanguage, words => `<p>${escapeXml(words[code] ?? words.ACCESS_NEEDED)}</p>`, LINK_POLICY)

/**
 * The page on which a user of the store signs in.
 * @param {string | null} user who is signed in and may not read the store; null: no user is signed in
 * @param {string} [acceptLanguage] header
 */
export const signInPage = (user, acceptLanguage) =>
  pageWith(acceptLanguage, words => signInForm(user, words), SIGN_IN_POLICY)

function signInForm (user, words) {
  const lead = user === null ? words.signIn : words.notMember.replace('{name}', () => user)
  const texts = { wrong: words.wrong, locked: words.locked, failed: words.failed, ...user !== null && { user } }
  const data = Object.entries(texts).map(([name, text]) => ` data-${name}="${escapeXml(text)}"`).join('')
  return `<p>${escapeXml(lead)}</p>
<noscript><p>${escapeXml(words.noScript)}</p></noscript>
<form${data}>
<label>${escapeXml(words.name)}
<input name="name" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus></label>
<label>${escapeXml(words.password)}
<input name="password" type="password" autocomplete="current-password" required></label>
<p role="alert"></p>
<button name="button">${escapeXml(words.button)}</button>
</form>
<script>${script}</script>`
}
