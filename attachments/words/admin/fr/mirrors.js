import { counted } from '../../counted.js'

const number = counted('fr')

export const mirrors = {
  head: 'Qui suit qui',
  here: 'Cet entrepôt',
  picture: 'Image des miroirs',
  table: 'Les miroirs en tableau',
  summary: (sources, targets) => `Cet entrepôt au milieu ; sources : ${sources}, copies : ${targets}. Le tableau dit la même chose.`,
  count: number({ one: '# miroir.', other: '# miroirs.' }),
  bad: number({ one: '# demande votre attention.', other: '# demandent votre attention.' }),
  none: 'Cet entrepôt n’en copie aucun autre, et aucun ne le copie.',
  hidden: 'Les réplications de CouchDB lui-même sont montrées à un administrateur du serveur.',
  unknown: '–',
  pending: number({ one: '# modification de retard', other: '# modifications de retard' }),
  states: { live: 'en direct', complete: 'complet', copying: 'copie', behind: 'en retard', waiting: 'attend', interrupted: 'interrompu', failed: 'échoué', stopped: 'arrêté', unknown: 'inconnu' },
  roles: { target: 'copié depuis', source: 'copié vers' },
  by: { mirror: 'tilecouch mirror', edge: 'edge', export: 'export continu', couchdb: 'CouchDB' },
  parts: { all: 'tout', current: 'le présent seulement', since: time => `depuis ${time}` },
  columns: { other: 'Autre entrepôt', state: 'État', lag: 'Retard', rate: 'Vitesse', copied: 'Copiés', refused: 'Refusés', failed: 'Échoués', success: 'Dernier succès', part: 'Par, partie', host: 'Machine' },
  make: {
    head: 'Créer un miroir',
    lead: 'Exécutez ceci là où tilecouch est installé. Les mots de passe sont demandés, ou viennent de l’environnement : ils n’ont pas leur place dans la ligne.',
    other: 'Adresse de l’autre entrepôt',
    direction: 'Sens',
    to: 'De cet entrepôt vers l’autre',
    from: 'De l’autre vers cet entrepôt',
    layer: 'Couche',
    all: 'Toutes les couches',
    live: 'Suivre chaque modification'
  }
}
