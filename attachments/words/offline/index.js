// The texts of the panel of areas, which is a bundle of its own: a page that keeps nothing on the device does not load
// them.
import { language } from '../index.js'
import { de } from './de.js'
import { en } from './en.js'
import { es } from './es.js'
import { fr } from './fr.js'

/** @type {Record<string, typeof en>} */
export const languages = { en, de, fr, es }

export const texts = languages[language]
