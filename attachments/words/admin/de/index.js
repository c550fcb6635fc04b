// German: the control room.
import { access } from './access.js'
import { activity } from './activity.js'
import { editions } from './editions.js'
import { layers } from './layers.js'
import { mirrors } from './mirrors.js'
import { overview } from './overview.js'
import { work } from './work.js'

export const de = {
  title: 'Leitstand',
  map: 'Karte',
  live: 'Live',
  again: 'Noch einmal versuchen',
  failed: why => `Das hat nicht geklappt: ${why}`,
  away: why => `Nicht aktuell: ${why}`,
  more: 'Mehr anzeigen',
  cancel: 'Abbrechen',
  typeName: name => `Zur Bestätigung ${name} eingeben`,
  notRecorded: why => `Erledigt, aber nicht im Verlauf vermerkt: ${why}`,
  sections: {
    overview: 'Übersicht',
    layers: 'Ebenen',
    editions: 'Ausgaben',
    work: 'Arbeit',
    mirrors: 'Spiegel',
    access: 'Zugang',
    activity: 'Verlauf'
  },
  signIn: {
    head: 'Anmelden',
    lead: 'Name und Passwort eines CouchDB-Benutzers, der in diesen Kartenspeicher schreiben darf.',
    name: 'Name',
    password: 'Passwort',
    button: 'Anmelden',
    out: 'Abmelden',
    wrong: 'Name oder Passwort ist falsch.',
    notAllowed: name => `${name} darf diesen Kartenspeicher nicht verwalten. Melden Sie sich unter einem anderen Namen an.`,
    ended: 'Ihre Sitzung ist abgelaufen. Melden Sie sich an, um weiterzumachen: Auf dieser Seite geht nichts verloren.'
  },
  overview,
  layers,
  editions,
  work,
  mirrors,
  access,
  activity
}
