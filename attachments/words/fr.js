// French.
import { counted } from './counted.js'

const count = counted('fr')

const tiles = count({ one: '# tuile', other: '# tuiles' })
const versions = count({ one: '# version', other: '# versions' })
const editions = count({ one: '# édition', other: '# éditions' })
const changed = count({ one: '# tuile modifiée', other: '# tuiles modifiées' })

/** @type {import('./index.js').Words} */
export const fr = {
  tiles,
  versions,
  layers: count({ one: '# couche', other: '# couches' }),
  newest: 'Dernier état',
  again: 'Réessayer',
  cancel: 'Annuler',
  close: what => `Fermer : ${what}`,
  closeNotice: 'Fermer',
  reading: 'Lecture de l’entrepôt …',
  emptyStore: 'Un entrepôt vide',
  noConnection: 'Pas de connexion',
  onDevice: 'Sur cet appareil',
  offlineMaps: 'Cartes hors ligne',
  controlRoom: 'Salle de contrôle',
  offlineFailed: why => `Impossible d’ouvrir les cartes hors ligne : ${why}`,
  numbers: { bytes: count({ one: '# octet', other: '# octets' }), units: ['ko', 'Mo', 'Go', 'To'] },

  timeline: {
    timeline: 'Frise chronologique',
    transport: 'Se déplacer dans le temps',
    first: 'Premier changement',
    previous: 'Changement précédent',
    play: 'Lecture',
    pause: 'Pause',
    next: 'Changement suivant',
    last: 'Dernier changement',
    newest: 'Dernier état',
    toNewest: 'Afficher les tuiles les plus récentes, dès leur arrivée',
    time: 'Date',
    from: 'Début de la période',
    to: 'Fin de la période',
    settings: 'Réglages de la frise',
    more: 'Plus',
    selectRange: 'Choisir une période',
    clearRange: 'Effacer la période',
    zoomToRange: 'Zoomer sur la période',
    zoomOut: 'Réduire l’axe',
    zoomIn: 'Agrandir l’axe',
    showAll: 'Afficher toute la durée',
    loop: 'Recommencer à la fin',
    speed: 'Vitesse',
    steps: 'Changements par seconde',
    perSecond: speed => `${speed} par s`,
    pace: 'Durée par seconde',
    paces: { hour: '1 heure par s', day: '1 jour par s', week: '1 semaine par s', month: '1 mois par s', year: '1 an par s', decade: '10 ans par s' },
    zone: 'Fuseau horaire',
    utc: 'Heures en UTC',
    local: 'Locale',
    ofComputer: 'Heures de cet ordinateur',
    ofZone: name => `Heures de ${name}`,
    waiting: 'en attente de tuiles …',
    looking: 'recherche de changements …',
    loading: 'chargement de l’historique …',
    away: 'l’entrepôt est injoignable',
    notOnMap: 'la couche n’est pas sur la carte',
    nothing: 'rien n’a changé ici',
    only: 'la seule date de cette couche',
    before: 'avant le premier changement ici',
    tilesChanged: count({ one: '# tuile modifiée ici', other: '# tuiles modifiées ici' }),
    unchangedSince: time => `inchangé depuis le ${time}`,
    lastChange: time => `dernier changement le ${time}`,
    changes: count({ one: '# changement', other: '# changements' })
  },

  store: {
    late: seconds => `Pas de réponse en ${seconds} secondes.`,
    unreachable: 'Le serveur est injoignable.',
    answered: status => `Le serveur a répondu ${status}.`
  },
  offlineNow: {
    head: 'Vous êtes hors ligne',
    texts: [
      'Rien de cette carte n’est encore sur cet appareil. Avec une connexion, le bouton « Cartes hors ligne » de cette page en télécharge des parties.',
      'La carte apparaît d’elle-même dès qu’il y a une connexion.'
    ]
  },
  storeAway: why => ({
    head: 'L’entrepôt ne répond pas',
    texts: [why, 'Le serveur est-il encore en marche ? Rien n’est perdu : cette page continue de demander, et reprend dès qu’une réponse arrive.']
  }),
  empty: {
    head: 'Pas encore de couches',
    before: ['Cet entrepôt est prêt et vide. Chargez-y un dossier de tuiles ou un fichier MBTiles :'],
    command: 'Commande',
    after: [
      'Un dossier contient z/x/y.png, comme l’écrivent gdal2tiles et la plupart des outils. Chaque chargement à une nouvelle date s’ajoute au passé de la couche, et cette page permet d’y revenir.',
      'La carte apparaît d’elle-même dès qu’il y en a une.'
    ],
    look: 'Regarder de nouveau'
  },
  problems: {
    codes: {
      UNREACHABLE: () => 'Le serveur ne répond pas.',
      LAYER_NOT_FOUND: name => `La couche « ${name} » n’est plus dans cet entrepôt.`,
      DATABASE_NOT_FOUND: () => 'La base de données n’existe plus.',
      INDEX_MISSING: () => 'Il manque à l’entrepôt son index des versions : « tilecouch push » l’installe.',
      UNAUTHORIZED: () => 'L’entrepôt ne vous autorise pas à le lire.',
      FORBIDDEN: () => 'L’entrepôt ne vous autorise pas à le lire.'
    },
    other: (name, message) => `L’entrepôt a un problème : ${message}.`,
    keepsAsking: 'Cette page continue de demander.',
    fromDevice: (isOnline, time) => `${isOnline ? 'Le serveur ne répond pas.' : 'Vous êtes hors ligne.'} Voici ce que l’appareil a de la carte${time ? `, au ${time}` : ' ; tout n’y est pas'}.`,
    failed: number => `${tiles(number)} : chargement échoué. Nouvel essai en cours.`,
    vector: 'Ce sont des tuiles vectorielles. Cette page sait quand elles ont changé, mais ce navigateur ne peut pas les dessiner : il n’a pas WebGL.',
    notHere: 'Rien de ce lieu n’est sur cet appareil.',
    noneBefore: time => `Ce lieu n’a pas de tuiles avant le ${time}.`,
    goThere: 'Y aller',
    noneHere: name => `« ${name} » n’a pas de tuiles ici.`,
    showWhere: 'Montrer où il y en a'
  },
  link: {
    problems: problems => `Une partie de ce lien n’a pas pu être suivie. ${problems.join(' ')}`,
    unknown: (name, isOnDevice) => `Il n’y a pas de couche « ${name} » ${isOnDevice ? 'sur cet appareil' : 'ici'}.`,
    noLayer: 'Il ne nomme aucune couche.',
    noPlace: 'Il ne nomme aucun lieu de la carte.',
    noTime: text => `« ${text} » n’est pas une date.`
  },

  map: {
    label: 'Carte. Les flèches la déplacent, Entrée montre ce que l’on sait du lieu au centre, ? affiche toutes les touches.',
    timeline: 'Frise chronologique',
    tools: 'Outils de la carte',
    zoomIn: 'Agrandir',
    zoomOut: 'Réduire',
    find: 'Chercher un lieu',
    locate: 'Montrer où je suis',
    locating: 'Recherche de votre position …',
    notLocated: ['Les navigateurs ne donnent la position qu’aux pages ouvertes en https.', 'Le navigateur ne donne pas votre position à cette page.', 'Cet appareil ne sait pas où il est.', 'Cet appareil n’a pas trouvé sa position à temps.'],
    measure: 'Mesurer une distance',
    full: 'Plein écran',
    leaveFull: 'Quitter le plein écran',
    noFull: 'Le navigateur n’autorise pas le plein écran pour cette page.',
    keys: 'Touches'
  },
  measure: {
    hint: 'Cliquez sur les lieux entre lesquels mesurer.',
    undo: 'Revenir',
    both: (length, area) => `${length}, entourant ${area}`
  },
  keys: {
    title: 'Touches',
    when: 'Elles agissent quand la carte a le focus.',
    space: 'Espace',
    does: {
      move: 'Déplacer la carte', zoom: 'Zoomer', tile: 'Ce que l’on sait du lieu au centre', play: 'Lecture, pause', previous: 'Changement précédent ici',
      next: 'Changement suivant ici', newest: 'Dernier état', compare: 'Comparer', find: 'Chercher un lieu', measure: 'Mesurer', close: 'Fermer la fiche', keys: 'Cette liste'
    }
  },
  find: {
    label: 'Chercher un lieu',
    placeholder: 'Lieu ou coordonnées',
    hint: 'Par exemple 47,5 N 8,3 E, 10/534/358, ou le nom d’une couche.',
    results: 'Lieux',
    close: 'Fermer la recherche',
    coordinates: 'Coordonnées',
    layer: 'Couche',
    pressEnter: host => `Entrée cherche chez ${host}.`,
    asking: host => `Recherche chez ${host} …`,
    found: (number, host) => `${count({ one: '# lieu', other: '# lieux' })(number)} de ${host}`,
    nothing: 'Rien trouvé.',
    failed: host => `${host} ne répond pas.`
  },

  panel: {
    layers: 'Couches',
    hide: 'Masquer la liste des couches',
    show: 'Afficher la liste des couches',
    find: 'Chercher une couche',
    noMatch: text => `Aucune couche ne correspond à « ${text} ».`,
    zoom: zooms => `zoom ${zooms}`,
    compare: 'Comparer'
  },
  facts: {
    terms: { layer: 'Couche', tiles: 'Tuiles', versions: 'Versions', size: 'Taille', zooms: 'Zooms', first: 'Première', last: 'Dernière', conflicts: 'Conflits', source: 'Source' },
    disagree: number => `Des entrepôts chargés séparément se contredisent sur ${count({ one: '# document', other: '# documents' })(number)}.`,
    repairs: 'répare cela : la version la plus récente reste, et rien n’est perdu.'
  },
  otherGrid: {
    head: name => `« ${name} » n’est pas en Web Mercator`,
    why: grid => `Ses tuiles suivent la grille ${grid}. La carte de cette page ne dessine que Web Mercator : elle ne montre donc rien de cette couche.`,
    programs: 'Leaflet et OpenLayers la dessinent ; QGIS et GDAL le font par une passerelle. Voici l’adresse de ses tuiles :'
  },
  address: { head: 'Adresse pour logiciels de cartographie', copy: 'Copier', copied: 'Copié', selected: 'Sélectionné', more: 'Adresses pour d’autres programmes' },
  stack: {
    onMap: 'Sur la carte',
    base: 'Fond de carte',
    noBase: 'Aucun',
    order: 'Couches superposées, la plus haute d’abord',
    over: name => `Afficher « ${name} » sur la carte`,
    off: name => `Retirer « ${name} » de la carte`,
    up: name => `Monter « ${name} »`,
    down: name => `Descendre « ${name} »`,
    opacity: name => `Opacité de « ${name} »`
  },
  editions: {
    count: editions,
    last: number => `Les ${editions(number)} les plus récentes`,
    find: 'Chercher une édition',
    noMatch: text => `Aucune édition ne correspond à « ${text} ».`,
    searching: found => `Recherche, ${editions(found)} pour l’instant …`,
    ofEveryTile: 'de chaque tuile',
    loading: 'chargement …',
    older: 'Éditions antérieures',
    footprint: 'Tracer son emprise',
    onlyHere: 'Seulement ce qui a changé ici',
    noneHere: 'Rien n’a changé ici.',
    looking: 'Recherche de changements …',
    share: (share, number) => [share, tiles(number)].filter(Boolean).join(' · '),
    heat: 'Montrer où cela change souvent',
    seldom: 'rarement',
    often: 'souvent'
  },

  features: {
    looking: 'Recherche …',
    here: 'Ici',
    layer: 'Couche',
    caption: 'Objets qui diffèrent, par couche',
    kinds: { added: 'ajoutés', changed: 'modifiés', removed: 'supprimés' },
    alike: 'Aucun objet ne diffère.',
    mark: 'Marquer ces objets',
    save: 'Enregistrer en GeoJSON',
    failed: message => `Les objets n’ont pas pu être comparés : ${message}.`
  },
  changed: {
    title: 'Ce qui a changé ici',
    between: ['Entre le ', ' et le ', ''],
    showTime: 'Afficher cette date',
    outline: 'Tracer les tuiles modifiées',
    looking: 'Recherche …',
    alike: 'Rien n’a l’air différent ici.',
    nothing: 'Rien n’a changé ici.',
    tiles: changed,
    steps: number => `en ${count({ one: '# étape', other: '# étapes' })(number)}, dans la partie visible de la carte`
  },
  compare: {
    start: 'Comparer ces dates',
    stop: 'Arrêter la comparaison',
    nothing: 'Il n’y a qu’une date, et pas d’autre couche à comparer.',
    handle: 'Comparer : gauche et droite',
    control: {
      left: 'gauche',
      right: 'droite',
      otherMap: 'Seconde carte',
      swipe: (left, leftShare, right, rightShare) => `${left} sur ${leftShare} %, ${right} sur ${rightShare} % de la carte`,
      fade: (left, leftShare, right, rightShare) => `${left} ${leftShare} %, ${right} ${rightShare} %`
    },
    mode: 'Façon de comparer',
    modes: { swipe: 'Volet', side: 'Côte à côte', fade: 'Fondu' },
    sides: {
      left: { name: 'Gauche', layer: 'Couche à gauche', time: 'Date à gauche' },
      right: { name: 'Droite', layer: 'Couche à droite', time: 'Date à droite' }
    }
  },
  place: {
    title: 'Ce lieu',
    reading: 'Lecture de ses versions …',
    unreadable: why => `Ses versions ne peuvent être lues : ${why}`,
    nothing: 'L’entrepôt n’a pas de tuile ici.',
    notYet: 'Il n’y avait encore rien ici.',
    gone: 'Il n’y a plus rien ici',
    goneFrom: 'Supprimée : plus de tuile à partir d’ici',
    goneSince: 'Supprimée depuis',
    noImage: 'Pas d’image',
    source: 'Source',
    unchangedSince: 'Inchangé depuis',
    checked: 'Vérifié',
    until: 'De nouveau modifié',
    versions: (number, zone) => `${versions(number)}, heures en ${zone}`,
    last: (number, zone) => `Les ${versions(number)} les plus récentes, heures en ${zone}`,
    older: 'Versions antérieures',
    newest: 'actuelle',
    download: 'Télécharger l’image',
    downloadOf: time => `Télécharger l’image du ${time}`,
    details: 'Détails',
    terms: {
      tile: 'Tuile', time: 'Date', stored: 'Enregistrée', expires: 'Expire', expired: 'Expirée', size: 'Taille', type: 'Type',
      address: 'Provenance', document: 'Document', revision: 'Révision'
    }
  },

  take: {
    title: 'Emporter',
    notLoaded: why => `Cette partie de la page n’a pas été chargée (${why}). Rechargez la page quand il y a du réseau.`,
    openMap: 'Ouvrir la carte'
  }
}
