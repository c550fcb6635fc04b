// Random tests are the same each time; TILECOUCH_SEED makes others of them.
import fc from 'fast-check'

fc.configureGlobal({ seed: +(process.env.TILECOUCH_SEED ?? 2026) })
