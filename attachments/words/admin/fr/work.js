import { counted } from '../../counted.js'

const number = counted('fr')

export const work = {
  states: { running: 'En cours', interrupted: 'Interrompue', done: 'Terminée', failed: 'Échouée', stopped: 'Arrêtée' },
  running: { head: 'En cours', none: 'Aucune commande ne s’exécute en ce moment.' },
  interrupted: {
    head: 'Interrompues',
    none: 'Rien n’a été interrompu.',
    lead: 'Ces commandes se sont tues sans prévenir : quelqu’un les a tuées, ou leur machine s’est éteinte. Ce qu’elles ont déjà fait reste.'
  },
  ended: {
    head: 'Terminées',
    lead: 'Les commandes des 90 derniers jours, les plus récentes d’abord.',
    none: 'Aucune commande ne s’est terminée au cours des 90 derniers jours.',
    noneLike: 'Aucune commande ne correspond.',
    shown: (shown, all) => shown === all ? `${all} en tout` : `${shown} sur ${all}`
  },
  columns: { command: 'Commande', result: 'Résultat', ended: 'Fin', lasted: 'Durée', amount: 'Fait', who: 'Qui', actions: 'Retirer' },
  filters: { command: 'Commande', layer: 'Couche', state: 'Résultat', all: 'Tout' },
  units: { tiles: 'tuiles', versions: 'versions', documents: 'documents' },
  follow: { reading: 'copie', following: 'à jour', away: 'attend un entrepôt', starting: 'commence', stopped: 'arrêtée', completed: 'complète' },
  ofTotal: (done, total, unit) => `${done} sur ${total} ${unit}`.trim(),
  rate: rate => `${rate} par seconde`,
  left: span => `encore ${span} environ`,
  failures: number({ one: '# échec', other: '# échecs' }),
  started: when => `commencée ${when}`,
  lastSeen: when => `dernier signe de vie ${when}`,
  by: user => `par ${user}`,
  on: host => `sur ${host}`,
  progress: title => `Avancement de ${title}`,
  goOn: 'Pour continuer :',
  again: 'Pour recommencer',
  copy: line => `Copier : ${line}`,
  remove: {
    button: 'Retirer',
    label: title => `Retirer : ${title}`,
    head: command => `Retirer cette entrée de ${command} ?`,
    text: 'Seule l’entrée disparaît. Ce que la commande a fait reste.',
    action: 'Retirer l’entrée'
  },
  start: {
    head: 'Lancer une commande',
    lead: 'Ces commandes ont besoin de Node. Exécutez-les là où tilecouch est installé ; sans --db, elles prennent l’entrepôt que nomme COUCHDB_URL, ou l’entrepôt embarqué de ce dossier.',
    command: 'Commande',
    layer: 'Couche',
    newLayer: 'Couche, nouvelle ou non',
    file: 'Dossier, fichier ou adresse',
    all: 'Toutes les couches',
    commands: {
      load: 'Charge des tuiles comme une édition d’une couche.',
      export: 'Écrit une couche dans un dossier, ou dans un fichier MBTiles ou PMTiles.',
      seed: 'Télécharge les tuiles d’une zone depuis la source amont de la couche.',
      prune: 'Supprime les versions passées selon les règles de la couche. Avec --dry-run, compte seulement.',
      check: 'Cherche les défauts. Avec --fix, les répare.',
      backup: 'Écrit tout l’entrepôt dans un fichier.'
    }
  }
}
