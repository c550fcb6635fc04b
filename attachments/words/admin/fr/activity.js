import { counted } from '../../counted.js'

const number = counted('fr')

export const activity = {
  reading: 'Lecture de l’activité …',
  lead: 'Qui a modifié des couches, des éditions, les accès et les réglages, ici et par des commandes. Le plus récent vient en premier.',
  none: 'Rien n’est encore noté.',
  noMatch: 'Aucune activité ne correspond.',
  found: number({ one: '# modification', other: '# modifications' }),
  filter: 'Filtre',
  all: 'Tout',
  by: { layer: 'Couche', user: 'Utilisateur', what: 'Quoi' },
  what: {
    layer: 'Couche',
    edition: 'Édition',
    access: 'Accès',
    store: 'Réglages du dépôt',
    token: 'Jeton',
    style: 'Style'
  },
  done: { created: 'création', changed: 'modification', removed: 'suppression' },
  page: 'dans la salle de contrôle',
  moreFields: number({ one: 'et # autre champ', other: 'et # autres champs' }),
  nothing: '(rien)',
  nobody: '(personne)',
  yes: 'oui',
  no: 'non',
  seconds: number({ one: '# seconde', other: '# secondes' }),
  role: name => `le rôle ${name}`,
  keep: {
    head: 'Durée de conservation de l’activité',
    now: number({
      one: 'L’activité est conservée # jour. La plus ancienne est supprimée.',
      other: 'L’activité est conservée # jours. La plus ancienne est supprimée.'
    }),
    days: 'Jours (30 à 36500)',
    save: 'Enregistrer',
    saved: days => `L’activité est maintenant conservée ${days} jours.`,
    clash: 'Quelqu’un d’autre a modifié cela entre-temps. Regardez la nouvelle valeur, puis enregistrez de nouveau.'
  },
  fields: {
    retention: 'Conservation',
    upstream: 'Source en amont',
    removedTiles: 'Tuiles supprimées',
    removedVersions: 'Versions supprimées',
    removedEditions: 'Éditions supprimées',
    tiles: 'Tuiles lues',
    created: 'Nouvelles tuiles',
    advanced: 'Tuiles modifiées',
    backfilled: 'Tuiles placées dans le passé',
    gone: 'Tuiles disparues',
    editions: 'Éditions',
    styles: 'Styles',
    versions: 'Versions',
    copiedFrom: 'Copié de',
    layer: 'Nom',
    public: 'Tout le monde lit',
    readers: 'Lecteurs',
    writers: 'Rédacteurs',
    admins: 'Administrateurs',
    roles: 'Rôles',
    names: 'Noms',
    signIn: 'Connexion',
    title: 'Titre',
    source: 'Source',
    logo: 'Logo',
    colours: 'Couleurs',
    opens: 'Première couche',
    base: 'Fond de carte',
    gazetteer: 'Recherche de lieux',
    places: 'Lieux',
    activityDays: 'Jours de conservation de l’activité'
  }
}
