// The texts of the page of the layers.
import { language } from '../index.js'
import { de } from './de.js'
import { en } from './en.js'
import { es } from './es.js'
import { fr } from './fr.js'

/** @type {Record<string, typeof en>} */
export const languages = { en, de, fr, es }

export const texts = languages[language]
