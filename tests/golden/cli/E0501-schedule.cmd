# execution orders are keep and search
# arenac: plan ../plan/order-search.ag --schedule best
