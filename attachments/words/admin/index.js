// The texts of the control room, in English. A text is a string, or a function of what it says.
import { access } from './access.js'
import { activity } from './activity.js'
import { editions } from './editions.js'
import { layers } from './layers.js'
import { overview } from './overview.js'
import { work } from './work.js'

export const texts = {
  title: 'Control room',
  map: 'Map',
  live: 'Live',
  again: 'Try again',
  failed: why => `This did not work: ${why}`,
  away: why => `Not up to date: ${why}`,
  more: 'Show more',
  cancel: 'Cancel',
  typeName: name => `Type ${name} to confirm`,
  notRecorded: why => `Done, but not noted under Activity: ${why}`,
  sections: {
    overview: 'Overview',
    layers: 'Layers',
    editions: 'Editions',
    work: 'Work',
    access: 'Access',
    activity: 'Activity'
  },
  signIn: {
    head: 'Sign in',
    lead: 'Name and password of a user of CouchDB who may write to this store.',
    name: 'Name',
    password: 'Password',
    button: 'Sign in',
    out: 'Sign out',
    wrong: 'Name or password is wrong.',
    notAllowed: name => `${name} may not administer this store. Sign in as somebody else.`,
    ended: 'Your session has ended. Sign in to go on: nothing on this page is lost.'
  },
  overview,
  layers,
  editions,
  work,
  access,
  activity
}
