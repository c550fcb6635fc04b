// French: the control room.
import { access } from './access.js'
import { activity } from './activity.js'
import { editions } from './editions.js'
import { layers } from './layers.js'
import { mirrors } from './mirrors.js'
import { overview } from './overview.js'
import { work } from './work.js'

export const fr = {
  title: 'Salle de contrôle',
  map: 'Carte',
  live: 'En direct',
  again: 'Réessayer',
  failed: why => `Cela n’a pas fonctionné : ${why}`,
  away: why => `Pas à jour : ${why}`,
  more: 'Afficher plus',
  cancel: 'Annuler',
  typeName: name => `Tapez ${name} pour confirmer`,
  notRecorded: why => `C’est fait, mais l’activité n’a pas été notée : ${why}`,
  sections: {
    overview: 'Aperçu',
    layers: 'Couches',
    editions: 'Éditions',
    work: 'Travaux',
    mirrors: 'Miroirs',
    access: 'Accès',
    activity: 'Activité'
  },
  signIn: {
    head: 'Se connecter',
    lead: 'Nom et mot de passe d’un utilisateur de CouchDB qui peut écrire dans cet entrepôt.',
    name: 'Nom',
    password: 'Mot de passe',
    button: 'Se connecter',
    out: 'Se déconnecter',
    wrong: 'Le nom ou le mot de passe est incorrect.',
    notAllowed: name => `${name} ne peut pas administrer cet entrepôt. Connectez-vous sous un autre nom.`,
    ended: 'Votre session est terminée. Connectez-vous pour continuer : rien n’est perdu sur cette page.'
  },
  overview,
  layers,
  editions,
  work,
  mirrors,
  access,
  activity
}
